/** The sentences that a provider wrote begin with its name; all others are the service's own. Null for those. */
export const wordsOfProvider = (message: string, name: string | null): string | null =>
  name !== null && message.startsWith(`${name}: `) ? message.slice(name.length + 2) : null
