/** Says whether a name says that what it names is a secret: by the last of its words, in whatever way they are joined. */
export const isCredentialName = (name: string): boolean => {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  if (last === 'key') return words.length > 1 && !OTHER_KEYS.has(words.at(-2) ?? '')
  return SECRETS.has(last)
}

const SECRETS: ReadonlySet<string> = new Set(
  'authorization auth token secret password passwd passphrase pwd credential credentials apikey bearer cookie jwt pat dsn'.split(' '),
)

/** Keys that open nothing. A key of no kind may be one of a keyboard or a table. */
const OTHER_KEYS: ReadonlySet<string> = new Set('cache sort group partition primary foreign public idempotency'.split(' '))
