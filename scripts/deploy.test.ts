/** Files in deploy/ name existing settings, paths and files, and give the service enough time to stop. */
import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { parse, parseAllDocuments } from 'yaml'

import { configFileSchema } from '../src/config-file.ts'
import { SERVE_SETTINGS } from '../src/config.ts'
import { describedMounts } from '../src/compose/described-routes.test-kit.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(ROOT, 'deploy', file), 'utf8')

const FLAGS = Object.values(SERVE_SETTINGS).flatMap(({ flag }) => (flag === null ? [] : [`--${flag}`]))
const VARIABLES = Object.values(SERVE_SETTINGS).map(({ env }) => env)
const DRAIN_SECONDS = Number(SERVE_SETTINGS.drainSeconds.shown)
const PORT = Number(SERVE_SETTINGS.port.shown)
const PATHS = (await describedMounts()).flatMap(({ base, routes }) => routes.map(({ path }) => base + path))

test.each(['Containerfile', 'patchbay.service', 'kubernetes/patchbay.yaml'])(
  '%s: every flag and variable of ours is one of `serve`',
  (file) => {
    const text = read(file)
    const commands = text.match(/(?:ExecStart=.*|args: \[.*\])/g)?.join(' ') ?? ''
    for (const flag of commands.match(/--[a-z-]+/g) ?? []) expect(FLAGS).toContain(flag)
    for (const variable of text.match(/\bPATCHBAY_[A-Z_]+/g) ?? []) expect(VARIABLES).toContain(variable)
  },
)

test.each(['Containerfile', 'kubernetes/patchbay.yaml', 'nginx.conf', 'Caddyfile', 'haproxy.cfg'])(
  '%s: every path of health is a route, and every port the default',
  (file) => {
    const text = read(file)
    for (const path of text.match(/\/health\/[a-z]+/g) ?? []) expect(PATHS).toContain(path)
    const ports = [...text.matchAll(/(?:containerPort: |PATCHBAY_PORT=|EXPOSE |127\.0\.0\.1:|PATCHBAY_PORT, value: ')(\d+)/g)].map(
      ([, port]) => Number(port),
    )
    expect(new Set(ports)).toEqual(new Set([PORT]))
  },
)

describe('Kubernetes', () => {
  interface Container {
    readonly args: readonly string[]
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
    readonly securityContext: Readonly<Record<string, unknown>>
    readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
    readonly startupProbe: Probe
    readonly livenessProbe: Probe
    readonly readinessProbe: Probe
  }
  interface Probe {
    readonly httpGet: { readonly path: string; readonly port: string }
  }
  interface Pod {
    readonly terminationGracePeriodSeconds: number
    readonly securityContext: Readonly<Record<string, unknown>>
    readonly containers: readonly [Container]
    readonly volumes: readonly { readonly name: string }[]
  }
  type Labels = Readonly<Record<string, string>>
  interface Objects {
    readonly Deployment: {
      readonly spec: {
        readonly replicas: number
        readonly selector: { readonly matchLabels: Labels }
        readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod }
      }
    }
    readonly Service: { readonly spec: { readonly selector: Labels; readonly ports: readonly { readonly targetPort: string }[] } }
    readonly PodDisruptionBudget: {
      readonly spec: { readonly selector: { readonly matchLabels: Labels }; readonly maxUnavailable: number }
    }
    readonly ConfigMap: { readonly data: Readonly<Record<string, string>> }
  }
  const documents = parseAllDocuments(read('kubernetes/patchbay.yaml'))
  const objects = Object.fromEntries(documents.map((document) => [document.get('kind'), document.toJS()])) as Objects
  const { Deployment, Service, PodDisruptionBudget, ConfigMap } = objects
  const pod = Deployment.spec.template.spec
  const [container] = pod.containers

  test('has one of each object, and no fault of YAML', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([])
    expect(Object.keys(objects).sort()).toEqual(['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service'])
  })

  test('a pod has longer to end than it waits, drains and says its last words', () => {
    const [, waits] = container.lifecycle.preStop.exec.command
    const drains = container.args[container.args.indexOf('--drain-seconds') + 1]
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(waits) + Number(drains) + 5)
  })

  test('the service, the disruption budget and the deployment mean the same pods', () => {
    const { labels } = Deployment.spec.template.metadata
    for (const selector of [Deployment.spec.selector.matchLabels, Service.spec.selector, PodDisruptionBudget.spec.selector.matchLabels]) {
      expect(labels).toMatchObject(selector)
    }
    expect(PodDisruptionBudget.spec.maxUnavailable).toBeLessThan(Deployment.spec.replicas)
  })

  test('probes and service reach the port that the container opens; life never asks the database', () => {
    const names = container.ports.map(({ name }) => name)
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
      expect(names).toContain(probe.httpGet.port)
    for (const { targetPort } of Service.spec.ports) expect(names).toContain(targetPort)
    expect([container.livenessProbe.httpGet.path, container.readinessProbe.httpGet.path]).toEqual(['/health/live', '/health/ready'])
  })

  test('a pod is nobody in particular, and writes only where a volume is', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true })
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    const volumes = pod.volumes.map(({ name }) => name)
    for (const { name } of container.volumeMounts) expect(volumes).toContain(name)
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain('/data')
  })

  test('the configuration is one that the service takes', () => {
    expect(configFileSchema.safeParse(parse(ConfigMap.data['patchbay.yaml'] ?? '')).error).toBeUndefined()
  })
})

describe('the image', () => {
  const text = read('Containerfile')
  test('is made of the packed artefact, and runs as a user without a name whose directory is the data', () => {
    expect(text.match(/^COPY (?!--from).*$/gm)).toEqual(['COPY patchbay-*.tgz /tmp/patchbay.tgz'])
    const [, user] = /^USER (\d+):\d+$/m.exec(text) ?? []
    expect(Number(user)).toBeGreaterThan(0)
    expect(text).toContain(`--owner=${user} --group=${user} /data`)
  })

  test('starts programs that the package has', () => {
    const programs = [...text.matchAll(/"\/opt\/patchbay\/node_modules\/patchbay\/([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(programs).toEqual(['bin/bun'])
    for (const program of programs) expect(existsSync(join(ROOT, program))).toBe(true)
  })
})

test('systemd waits longer than the service drains', () => {
  const [, stops] = /^TimeoutStopSec=(\d+)$/m.exec(read('patchbay.service')) ?? []
  expect(Number(stops)).toBeGreaterThanOrEqual(DRAIN_SECONDS + 5)
})

const ANALYZE = 'systemd-analyze'
test.skipIf(spawnSync(ANALYZE, ['--version']).status !== 0)('systemd knows every line of the unit', () => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-unit-'))
  const path = join(directory, 'patchbay.service')
  // Stands in for the program, which is not installed here.
  writeFileSync(
    path,
    read('patchbay.service').replace('ExecStart=/opt/patchbay/node_modules/.bin/patchbay', `ExecStart=${process.execPath}`),
  )
  const { status, stderr } = spawnSync(ANALYZE, ['verify', path], { encoding: 'utf8', timeout: 60_000 })
  rmSync(directory, { recursive: true })
  expect([status, stderr]).toEqual([0, ''])
})

test('proxies take bodies as large and answers as slow as the service does', () => {
  const { limits, timeouts } = configFileSchema.parse({})
  const [nginx, caddy, haproxy] = [read('nginx.conf'), read('Caddyfile'), read('haproxy.cfg')]
  const secondsIn = (text: string, name: string): number => Number(new RegExp(`${name} (\\d+)s`).exec(text)?.[1])
  expect(Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1]) * 1024 ** 2).toBe(limits.max_body_bytes)
  for (const found of [
    secondsIn(nginx, 'proxy_read_timeout'),
    secondsIn(caddy, 'response_header_timeout'),
    secondsIn(haproxy, 'timeout client'),
    secondsIn(haproxy, 'timeout server'),
  ]) {
    expect(found).toBeGreaterThan(timeouts.whole_headers)
  }
  expect([nginx.includes('proxy_buffering off;'), /^\s*flush_interval/m.test(caddy)]).toEqual([true, false])
})
