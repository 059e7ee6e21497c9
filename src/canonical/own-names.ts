/**
 * All names that mark something as the service's own: the first of each list is ours, the others are those of existing clients
 * (docs/contract/headers.md#names).
 */
export const OWN_NAMES = {
  /** Vendor names of the models that the service itself selects: `patchbay/auto`. */
  vendors: ['patchbay', 'service', 'openrouter'],
  /** Prefixes of the types of the tools that the service runs: `service:web_search`. */
  tools: ['service:', 'openrouter:'],
  /** The headers that ask for routing metadata, and the field in which it is returned. */
  metadata: [
    { header: 'x-service-metadata', field: 'service_metadata' },
    { header: 'x-service-experimental-metadata', field: 'service_metadata' },
    { header: 'x-openrouter-metadata', field: 'openrouter_metadata' },
    { header: 'x-openrouter-experimental-metadata', field: 'openrouter_metadata' },
  ],
} as const

/** Returns `auto` for `patchbay/auto` and its aliases; null for any other model. */
export const ownModelName = (id: string): string | null => {
  const slash = id.indexOf('/')
  const vendor = id.slice(0, slash)
  return OWN_NAMES.vendors.some((own) => own === vendor) ? id.slice(slash + 1) : null
}
