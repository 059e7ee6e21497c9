/** `Chrome on Windows`, from a browser's user agent; null for any other program. */
export const browserName = (agent: string): string | null => {
  const [browser, system] = [firstOf(BROWSERS, agent), firstOf(SYSTEMS, agent)]
  return browser === null ? null : system === null ? browser : `${browser} on ${system}`
}

type Names = readonly (readonly [pattern: RegExp, name: string])[]

const firstOf = (names: Names, agent: string): string | null => names.find(([pattern]) => pattern.test(agent))?.[1] ?? null

/** Each also claims to be those below it. */
const BROWSERS: Names = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const SYSTEMS: Names = [
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]
