/** The sentences that a provider wrote begin with its name. Returns null for all others, which are the service's own. */
export const wordsOfProvider = (message: string, name: string | null): string | null =>
  name !== null && message.startsWith(`${name}: `) ? message.slice(name.length + 2) : null
