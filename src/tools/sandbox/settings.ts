/** `tools.shell` of the operator's file: where commands of models run. If absent, they are not run. */
import { z } from 'zod'

import { enabled } from '../enabled.ts'

const price_per_minute = z.number().min(0).max(1000).default(0).meta({ description: 'US dollars for a minute in which a command runs.' })

const switched = { enabled: enabled('Whether commands of models run, by `shell` and by `bash`.') }

const pinned = (pattern: RegExp, forms: string): z.ZodString => z.string().regex(pattern, `Name the image with its digest: ${forms}`)

const docker = z.strictObject({
  kind: z.literal('docker'),
  ...switched,
  socket: z.string().startsWith('/').default('/var/run/docker.sock').meta({
    description: "The socket of Docker's or Podman's API. Whoever has it has its machine: give it one of its own.",
  }),
  image: pinned(/^(?:[^\s@]+@)?sha256:[0-9a-f]{64}$/, 'name@sha256:…, or sha256:… for one that was made there').meta({
    description: 'The image of each container, by its digest or its id. It has /bin/sh and sleep, and is not pulled.',
  }),
  runtime: z.string().min(1).optional().meta({ description: 'The runtime of the containers; runsc (gVisor) is recommended.' }),
  price_per_minute,
})

const http = z.strictObject({
  kind: z.literal('http'),
  ...switched,
  url: z.url({ protocol: /^https?$/ }).meta({ description: 'A service of your own that runs commands, private addresses too.' }),
  api_key: z.string().min(1).meta({ description: 'The secret that signs each request (HMAC-SHA256).' }),
  price_per_minute,
})

const opensandbox = z.strictObject({
  kind: z.literal('opensandbox'),
  ...switched,
  url: z
    .url({ protocol: /^https?$/ })
    .meta({ description: 'The lifecycle API of an OpenSandbox server, as far as `/v1`; private addresses too.' }),
  api_key: z.string().min(1).meta({ description: 'The key of that server (`OPEN-SANDBOX-API-KEY`).' }),
  image: pinned(/^[^\s@]+@sha256:[0-9a-f]{64}$/, 'name@sha256:…').meta({ description: 'The image of each sandbox, by its digest.' }),
  price_per_minute,
})

export const shellSettings = z.discriminatedUnion('kind', [docker, http, opensandbox])

export type ShellSettings = z.output<typeof shellSettings>
export type DockerSettings = z.output<typeof docker>
export type OpenSandboxSettings = z.output<typeof opensandbox>
export type HttpSettings = z.output<typeof http>
