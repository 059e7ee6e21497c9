/** The lines that the service prints when it accepts requests: one plain line for programs, and more on the very first start. */
export interface FirstKeys {
  readonly management: string
  readonly inference: string
  /** Signs the operator in, once; null if people cannot sign in. */
  readonly link: string | null
}

export const greeting = (url: string, keys: FirstKeys | null, terminal: boolean): string => {
  const ready = `patchbay ready ${url}\n`
  if (keys === null) return ready
  const commands = firstCommands(url, keys)
  return terminal
    ? ready + laidOut(keys, commands)
    : [
        ready,
        `management key ${keys.management}\n`,
        `inference key ${keys.inference}\n`,
        ...commands.map(({ command }) => `${command}\n`),
      ].join('')
}

interface FirstCommand {
  readonly title: string
  readonly command: string
}

const firstCommands = (url: string, keys: FirstKeys): readonly FirstCommand[] => [
  {
    title: 'Make a preset from a request body',
    command: `curl ${url}/api/v1/presets/hello/messages -H 'Authorization: Bearer ${keys.management}' -H 'Content-Type: application/json' -d '{"model":"sandbox/echo","max_tokens":100,"system":"Be kind."}'`,
  },
  {
    title: 'Use it',
    command: `curl ${url}/api/v1/chat/completions -H 'Authorization: Bearer ${keys.inference}' -H 'Content-Type: application/json' -d '{"model":"@preset/hello","messages":[{"role":"user","content":"Hello!"}]}'`,
  },
  keys.link === null
    ? { title: 'Browse the API', command: `${OPENER} ${url}/docs` }
    : { title: 'Open the dashboard (the link works once, for 15 minutes)', command: `${OPENER} ${keys.link}` },
]

/** The command that opens an address in the browser. */
const OPENER = { darwin: 'open', win32: 'start' }[process.platform as string] ?? 'xdg-open'

const BOLD = '\u001b[1m'
const DIM = '\u001b[2m'
const PLAIN = '\u001b[0m'

const laidOut = (keys: FirstKeys, commands: readonly FirstCommand[]): string =>
  [
    '',
    `  ${BOLD}Your first keys${PLAIN} ${DIM}(shown this once: keep them)${PLAIN}`,
    `    management  ${keys.management}`,
    `    inference   ${keys.inference}`,
    ...commands.flatMap(({ title, command }, index) => ['', `  ${BOLD}${index + 1}. ${title}${PLAIN}`, `    ${command}`]),
    '',
    '',
  ].join('\n')
