/** Every name that marks something as the service's own: the first one is ours, the others are those of existing clients (docs/contract/headers.md#names). */
export const OWN_NAMES = {
  /** Vendors of the models that the service picks itself: `patchbay/auto`. */
  vendors: ['patchbay', 'service', 'openrouter'],
  /** Before the types of the tools that it runs itself: `service:web_search`. */
  tools: ['service:', 'openrouter:'],
  /** How the headers begin that ask for the routing metadata, and the field that they get it in. */
  metadata: [
    { headers: 'x-service-', field: 'service_metadata' },
    { headers: 'x-openrouter-', field: 'openrouter_metadata' },
  ],
} as const

/** `auto` for `patchbay/auto` and its like; null for any other model. */
export const ownModelName = (id: string): string | null => {
  const slash = id.indexOf('/')
  return OWN_NAMES.vendors.some((vendor) => vendor === id.slice(0, slash)) ? id.slice(slash + 1) : null
}
