/** The lines that the service prints when it accepts requests: one plain line for programs, and more on the very first start. */
export interface FirstKeys {
  readonly management: string
  readonly inference: string
  /** Signs the operator in, once; null if people cannot sign in. */
  readonly link: string | null
}

/** `styled`: headings are bold, for a terminal that shows styles. */
export const greeting = (url: string, keys: FirstKeys | null, { terminal, styled }: { terminal: boolean; styled: boolean }): string => {
  const ready = `patchbay ready ${url}\n`
  if (keys === null) return ready
  const commands = firstCommands(url, keys)
  return terminal
    ? ready + laidOut(keys, commands, styled ? STYLES : NO_STYLES)
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

interface Styles {
  readonly bold: string
  readonly dim: string
  readonly plain: string
}

const STYLES: Styles = { bold: '\u001b[1m', dim: '\u001b[2m', plain: '\u001b[0m' }
const NO_STYLES: Styles = { bold: '', dim: '', plain: '' }

const laidOut = (keys: FirstKeys, commands: readonly FirstCommand[], { bold, dim, plain }: Styles): string =>
  [
    '',
    `  ${bold}Your first keys${plain} ${dim}(shown this once: keep them)${plain}`,
    `    management  ${keys.management}`,
    `    inference   ${keys.inference}`,
    ...commands.flatMap(({ title, command }, index) => ['', `  ${bold}${index + 1}. ${title}${plain}`, `    ${command}`]),
    '',
    '',
  ].join('\n')
