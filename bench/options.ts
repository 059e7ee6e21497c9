/** The flags of `npm run bench`. */
import { parseArgs } from 'node:util'

export interface Options {
  /** Null if a Patchbay is started here. */
  readonly outside: {
    readonly base: string
    readonly key: string
    readonly managementKey: string | null
    readonly model: string
    readonly pid: number | null
  } | null
  /** Names of scenarios or their prefixes; empty for all. */
  readonly only: readonly string[]
  readonly seconds: number
  readonly rounds: number
  readonly cold: boolean
  readonly connections: number
  readonly eventsPerWrite: number
  /** Another checkout to measure for comparison; null for none. */
  readonly before: string | null
  readonly databaseUrl: string | null
  readonly jsonFile: string | null
  readonly profileTo: string | null
}

export const USAGE = `npm run bench -- [flags]

  --only NAMES          chat, stream, presets, start, memory, … (comma-separated; a name's beginning is enough)
  --seconds S           length of one measurement, 0.5 to 60 (3)
  --rounds N            how often each is measured warm, 1 to 10; the median counts (3)
  --no-cold             leave out the first three seconds of fresh processes
  --connections N       requests open at a time, 1 to 1000 (16)
  --events-per-write N  events of a stream that the fake provider sends together (4)
  --json FILE           also write the results as JSON

  For the Patchbay that is started here:
  --before DIRECTORY    measure that checkout beside this one, in the same rounds
  --database-url URL    PostgreSQL instead of SQLite, of a user who may create databases: each service gets one, and they stay
  --profile DIR         write a CPU profile of it (figures are then worthless)

  For a service that runs already:
  --url BASE            its base URL, as an OpenAI client has it: http://127.0.0.1:8080/api/v1
  --key KEY             an inference key
  --mgmt-key KEY        a management key; without it presets are left out
  --model MODEL         the model to ask (sandbox/echo)
  --pid PID             its process, to measure CPU and memory (this machine, Linux)
  --remote              allow an address that is not of this machine`

/**
 * `names`: the names that `--only` may choose from. Throws an error of one sentence if a flag is bad. Returns null if help was asked for.
 */
export const readOptions = (argv: readonly string[], names: readonly string[]): Options | null => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      'no-cold': { type: 'boolean' },
      connections: { type: 'string' },
      'events-per-write': { type: 'string' },
      json: { type: 'string' },
      before: { type: 'string' },
      'database-url': { type: 'string' },
      profile: { type: 'string' },
      url: { type: 'string' },
      key: { type: 'string' },
      'mgmt-key': { type: 'string' },
      model: { type: 'string' },
      pid: { type: 'string' },
      remote: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) return null
  const only = (values.only ?? '').split(',').filter((name) => name !== '')
  const unknown = only.find((beginning) => !names.some((name) => name.startsWith(beginning)))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${names.join(', ')}.`)
  const pid = values.pid === undefined ? null : wholeNumberIn('pid', values.pid, 1, 1, 4_194_304)
  return {
    outside:
      values.url === undefined
        ? null
        : {
            base: baseUrl(values.url, values.remote === true),
            key: values.key ?? 'none',
            managementKey: values['mgmt-key'] ?? null,
            model: values.model ?? 'sandbox/echo',
            pid,
          },
    only,
    seconds: numberIn('seconds', values.seconds, 3, 0.5, 60),
    rounds: wholeNumberIn('rounds', values.rounds, 3, 1, 10),
    cold: values['no-cold'] !== true,
    connections: wholeNumberIn('connections', values.connections, 16, 1, 1000),
    eventsPerWrite: wholeNumberIn('events-per-write', values['events-per-write'], 4, 1, 100),
    before: values.before ?? null,
    databaseUrl: values['database-url'] ?? null,
    jsonFile: values.json ?? null,
    profileTo: values.profile ?? null,
  }
}

const numberIn = (flag: string, value: string | undefined, fallback: number, min: number, max: number): number => {
  const number = value === undefined ? fallback : Number(value)
  if (!(number >= min && number <= max)) throw new Error(`--${flag} must be a number from ${min} to ${max}.`)
  return number
}

const wholeNumberIn = (...bounds: Parameters<typeof numberIn>): number => {
  const number = numberIn(...bounds)
  if (!Number.isInteger(number)) throw new Error(`--${bounds[0]} must be a whole number.`)
  return number
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** A load test of a remote service costs money, so it must be allowed explicitly. */
const baseUrl = (value: string, remoteAllowed: boolean): string => {
  const url = URL.parse(value)
  if (url === null) throw new Error('--url must be a base URL, such as http://127.0.0.1:8080/api/v1.')
  if (!LOOPBACK.test(url.hostname) && !remoteAllowed)
    throw new Error(`--url ${url.host} is not of this machine; add --remote if you mean it.`)
  return url.href.replace(/\/$/, '')
}
