/** A service with the vendors' variables set, as an operator would start it, and with scripted vendors. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { PRESETS } from './cases.ts'
import { ENGINE_PATH } from './vendors/search-engine.ts'
import { startVendors } from './vendors/server.ts'

export interface Service {
  readonly url: string
  readonly api: string
  readonly key: string
  stop(): Promise<void>
}

/** All other settings have their defaults, since clients should meet a default server. */
export const startService = async (directory: string): Promise<Service> => {
  mkdirSync(directory, { recursive: true })
  const vendors = await startVendors()
  const config = join(directory, 'patchbay.yaml')
  // Each failure has a model of its own, so that its circuit breaker does not affect the others.
  writeFileSync(
    config,
    // A service on a busy machine would refuse requests, which says nothing about the client.
    `limits: { loop_lag_ms: 0 }\n` +
      `providers: { failing: { name: Failing, dialects: [openai-chat, openai-responses, anthropic], base_url: "${vendors.url}/failing", any_model: true } }\n` +
      `tools: { web_search: { engines: { house: { kind: searxng, url: "${vendors.url}${ENGINE_PATH}" } } } }\n`,
  )
  const child = spawn(
    join(import.meta.dirname, '../../bin/patchbay'),
    ['serve', '--port', '0', '--data-dir', join(directory, 'data'), '--config', config, '--log-level', 'silent'],
    {
      cwd: directory,
      env: {
        PATH: process.env['PATH'],
        OPENAI_API_KEY: 'sk-openai',
        OPENAI_BASE_URL: `${vendors.url}/openai/v1`,
        ANTHROPIC_API_KEY: 'sk-anthropic',
        ANTHROPIC_BASE_URL: `${vendors.url}/anthropic`,
        DEEPSEEK_API_KEY: 'sk-deepseek',
        DEEPSEEK_BASE_URL: `${vendors.url}/deepseek`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  const { url, management, key } = await keysOf(child.stdout)
  // Its log must be read for as long as it runs.
  child.stdout.resume()
  for (const [slug, body] of Object.entries(PRESETS)) {
    const saved = await fetch(`${url}/api/v1/presets/${slug}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${management}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!saved.ok) throw new Error(`The preset ${slug} was not saved: ${await saved.text()}`)
  }
  return {
    url,
    api: `${url}/api/v1`,
    key,
    async stop() {
      child.kill('SIGTERM')
      await ended
      vendors.stop()
    },
  }
}

const keysOf = (stdout: NodeJS.ReadableStream): Promise<{ url: string; management: string; key: string }> =>
  new Promise((resolve, reject) => {
    let text = ''
    stdout.on('data', (piece: Buffer) => {
      text += piece.toString()
      const url = /^patchbay ready (\S+)$/m.exec(text)?.[1]
      const management = /^management key (\S+)$/m.exec(text)?.[1]
      const key = /^inference key (\S+)$/m.exec(text)?.[1]
      if (url !== undefined && management !== undefined && key !== undefined) resolve({ url, management, key })
    })
    stdout.once('end', () => reject(new Error(`The service did not start: ${text}`)))
  })
