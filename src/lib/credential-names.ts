/** True if a name says that its value is a secret. Only the last word of the name counts, however the words are joined. */
export const isCredentialName = (name: string): boolean => {
  if (!mayBeSecret(name)) return false
  const words = wordsOf(name)
  const last = words.at(-1) ?? ''
  if (last === 'key') return words.length > 1 && !OTHER_KEYS.has(words.at(-2) ?? '')
  return SECRETS.has(last)
}

/** True if a name says that every text below it is a secret, such as `headers` and `domain_secrets`. */
export const holdsCredentials = (name: string): boolean =>
  mayBeSecret(name) && (HOLDERS.has(wordsOf(name).at(-1) ?? '') || isCredentialName(name))

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

const SECRETS: ReadonlySet<string> = new Set(
  'authorization auth token secret password passwd passphrase pwd credential credentials apikey bearer cookie jwt pat dsn'.split(' '),
)

/** `tokens` is left out: tokens are counted far more often than they are secret. */
const HOLDERS: ReadonlySet<string> = new Set('headers env secrets cookies passwords'.split(' '))

/** Keys that unlock nothing. A bare `key` may also be one of a keyboard or a table. */
const OTHER_KEYS: ReadonlySet<string> = new Set('cache sort group partition primary foreign public idempotency'.split(' '))

/** A cheap pre-check that rules out nearly every name: the name must end like a word of these lists. */
const mayBeSecret = (name: string): boolean => ENDINGS.test(name.toLowerCase())

const ENDINGS = new RegExp(`(?:${[...SECRETS, ...HOLDERS, 'key'].join('|')})[^a-z0-9]*$`)
