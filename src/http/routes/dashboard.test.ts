import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'

import { GatewayError } from '../../errors.ts'
import { systemIds } from '../../lib/id.ts'
import { createDashboardFiles } from '../dashboard/files.ts'
import type { RouteRequest } from '../route.ts'
import { dashboardRoutes } from './dashboard.ts'

const directory = mkdtempSync(join(tmpdir(), 'patchbay-dashboard-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const SCRIPT = 'console.log(1)'

const build = (): string => {
  const built = mkdtempSync(join(directory, 'dist-'))
  const assets = join(built, 'assets')
  mkdirSync(assets)
  writeFileSync(join(built, 'index.html'), '<script src="%BASE%/assets/main-1.js"></script><meta content="%NONCE%">')
  writeFileSync(join(built, 'manifest.json'), JSON.stringify({ files: { 'main-1.js': 'text/javascript; charset=utf-8' } }))
  writeFileSync(join(assets, 'main-1.js'), SCRIPT)
  writeFileSync(join(assets, 'main-1.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(assets, 'main-1.js.br'), brotliCompressSync(SCRIPT))
  return built
}

const ask = async (path: string, { files = build(), file = '', encoding = '', prefix = '' } = {}): Promise<Response> => {
  const route = dashboardRoutes({ files: createDashboardFiles(files), prefix, ids: systemIds }).find((one) => one.path === path)
  return route!.handle({ params: { file }, headers: new Headers({ 'accept-encoding': encoding }) } as unknown as RouteRequest)
}

describe('the page', () => {
  test('is never stored, and may load from its own origin alone', async () => {
    const { headers } = await ask('/dashboard')
    expect(headers.get('cache-control')).toBe('no-store')
    const policy = headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      expect(policy.split('; ')).toContain(rule)
    }
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  test('carries the nonce that its policy names, another one each time', async () => {
    const nonces = new Set<string>()
    for (let time = 0; time < 5; time += 1) {
      const page = await ask('/dashboard/*')
      const nonce = /'nonce-([\w-]{22})'/.exec(page.headers.get('content-security-policy') ?? '')?.[1] ?? ''
      expect(await page.text()).toContain(`<meta content="${nonce}">`)
      nonces.add(nonce)
    }
    expect(nonces.size).toBe(5)
  })

  test('links to its files below the prefix of a proxy', async () => {
    expect(await (await ask('/dashboard', { prefix: '/patchbay' })).text()).toContain('src="/patchbay/dashboard/assets/main-1.js"')
  })

  test('503 and what to run where it was not built; it is there as soon as it is', async () => {
    const missing = await ask('/dashboard', { files: join(directory, 'nowhere') })
    expect(missing.status).toBe(503)
    expect(await missing.text()).toContain('npm install --include=dev')
  })
})

describe('a file', () => {
  test.each([
    ['br, gzip', 'br', (body: Uint8Array) => brotliDecompressSync(body)],
    ['gzip', 'gzip', (body: Uint8Array) => gunzipSync(body)],
    ['br;q=0, gzip;q=0.5', 'gzip', (body: Uint8Array) => gunzipSync(body)],
    ['', null, (body: Uint8Array) => Buffer.from(body)],
  ] as const)('Accept-Encoding "%s": it comes as %s, and never changes', async (encoding, chosen, decode) => {
    const answer = await ask('/dashboard/assets/:file', { file: 'main-1.js', encoding })
    expect(answer.headers.get('content-encoding')).toBe(chosen)
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    expect(decode(await answer.bytes()).toString()).toBe(SCRIPT)
  })

  test.each(['../index.html', 'main-1.js.br', 'constructor', '__proto__', 'main-0.js', ''])(
    '404 for %p, which the build did not name',
    async (file) => {
      expect(ask('/dashboard/assets/:file', { file })).rejects.toBeInstanceOf(GatewayError)
    },
  )
})
