/**
 * Runs the proxies of deploy/ in front of a service, as real programs if this machine has them; otherwise their tests are skipped, with a
 * line of output.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll } from 'bun:test'

import { onFreePort } from './free-port.ts'
import { until } from './started-service.ts'

const ROOT = join(import.meta.dir, '../..')
const CERTIFICATE = join(ROOT, 'test/fixtures/tls/untrusted.pem')

export interface Proxy {
  readonly name: string
  readonly isHere: boolean
  /**
   * Starts the proxy for the service at this port; returns the proxy's port, which uses TLS with an untrusted certificate. Stopped after
   * the tests of the file.
   */
  start(servicePort: number, directory: string): Promise<number>
}

const read = (file: string): string => readFileSync(join(ROOT, 'deploy', file), 'utf8')

/** Replaces each text; throws if one is missing. */
const replaced = (text: string, changes: readonly (readonly [string | RegExp, string])[]): string =>
  changes.reduce((before, [from, to]) => {
    const after = before.replace(from, to)
    if (after === before) throw new Error(`${String(from)} is not in the file`)
    return after
  }, text)

const nginx = (directory: string, servicePort: number, port: number): readonly string[] => {
  const site = replaced(read('nginx.conf'), [
    [/^ {2}listen 443/m, `  listen 127.0.0.1:${port}`],
    ['server 127.0.0.1:8080', `server 127.0.0.1:${servicePort}`],
    [/ssl_certificate .*;/, `ssl_certificate ${CERTIFICATE};`],
    [/ssl_certificate_key .*;/, `ssl_certificate_key ${CERTIFICATE};`],
  ])
  writeFileSync(join(directory, 'site.conf'), site)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; master_process off; pid ${directory}/pid; error_log stderr; events {} http { access_log off; ${paths} include site.conf; }`,
  )
  return ['nginx', '-e', 'stderr', '-p', directory, '-c', join(directory, 'nginx.conf')]
}

const caddy = (directory: string, servicePort: number, port: number): readonly string[] => {
  const file = replaced(read('Caddyfile'), [
    ['patchbay.example {', `{\n\tadmin off\n\tauto_https off\n}\nhttps://127.0.0.1:${port} {\n\ttls ${CERTIFICATE} ${CERTIFICATE}`],
    ['reverse_proxy 127.0.0.1:8080', `reverse_proxy 127.0.0.1:${servicePort}`],
  ])
  const path = join(directory, 'Caddyfile')
  writeFileSync(path, file)
  return ['caddy', 'run', '--config', path, '--adapter', 'caddyfile']
}

const haproxy = (directory: string, servicePort: number, port: number): readonly string[] => {
  const file = replaced(read('haproxy.cfg'), [
    ['bind :443 ssl crt /etc/haproxy/tls/patchbay.example.pem', `bind 127.0.0.1:${port} ssl crt ${CERTIFICATE}`],
    ['server node1 127.0.0.1:8080', `server node1 127.0.0.1:${servicePort}`],
  ])
  const path = join(directory, 'haproxy.cfg')
  writeFileSync(path, `global\n  maxconn 100\n${file}`)
  return ['haproxy', '-db', '-f', path]
}

const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** Resolves when the proxy accepts connections; rejects if it exits before that. */
const run = async ([program = '', ...args]: readonly string[], directory: string, port: number): Promise<number> => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
  const child = spawn(program, [...args], { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'] })
  started.push(child)
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  const answers = (): Promise<boolean> =>
    fetch(`https://127.0.0.1:${port}/`, { tls: { rejectUnauthorized: false } }).then(
      ({ status }) => status < 500,
      () => false,
    )
  await until(async () => child.exitCode !== null || (await answers()), `${program} to answer`)
  if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`)
  return port
}

const proxy = (name: string, version: string, command: typeof nginx): Proxy => {
  const isHere = spawnSync(name, [version]).status === 0
  if (!isHere) console.warn(`Tests through ${name} are skipped: it is not on this machine.`)
  return {
    name,
    isHere,
    start: (servicePort, directory) => onFreePort((port) => run(command(directory, servicePort, port), directory, port)),
  }
}

export const PROXIES: readonly Proxy[] = [proxy('nginx', '-v', nginx), proxy('caddy', 'version', caddy), proxy('haproxy', '-v', haproxy)]
