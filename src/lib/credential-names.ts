/** Says whether a name says that what it names is a secret: by the last of its words, in whatever way they are joined. */
export const isCredentialName = (name: string): boolean => {
  if (!mayBeSecret(name)) return false
  const words = wordsOf(name)
  const last = words.at(-1) ?? ''
  if (last === 'key') return words.length > 1 && !OTHER_KEYS.has(words.at(-2) ?? '')
  return SECRETS.has(last)
}

/** Says whether a name says that every text below it is a secret, such as `headers` and `domain_secrets`. */
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

/** No `tokens`: those are counted far more often than they are secret. */
const HOLDERS: ReadonlySet<string> = new Set('headers env secrets cookies passwords'.split(' '))

/** Keys that open nothing. A key of no kind may be one of a keyboard or a table. */
const OTHER_KEYS: ReadonlySet<string> = new Set('cache sort group partition primary foreign public idempotency'.split(' '))

/** A quick look, which rules out nearly every name: its end is that of a word of these lists. */
const mayBeSecret = (name: string): boolean => ENDINGS.test(name.toLowerCase())

const ENDINGS = new RegExp(`(?:${[...SECRETS, ...HOLDERS, 'key'].join('|')})[^a-z0-9]*$`)
