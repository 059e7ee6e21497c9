/** The values that the service wrote into the page. */
const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

/** The path of the dashboard: `/dashboard`, with a prefix if a proxy adds one. */
export const PAGE_BASE = meta('patchbay-base')

/** The path of the API. */
export const API_BASE = PAGE_BASE.replace(/\/dashboard$/, '/api/v1')

/** The address of the service itself, for text that people paste elsewhere. */
export const SERVICE_URL = location.origin + PAGE_BASE.replace(/\/dashboard$/, '')

/** The nonce that allows a style element made by a library. */
export const PAGE_NONCE = meta('patchbay-nonce')
