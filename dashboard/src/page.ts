/** The values that the service wrote into the page. */
const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

/** The path of the dashboard: `/dashboard`, below a prefix where a proxy has one. */
export const PAGE_BASE = meta('patchbay-base')

/** The path of the API. */
export const API_BASE = PAGE_BASE.replace(/\/dashboard$/, '/api/v1')

/** The service itself, for what people paste elsewhere. */
export const SERVICE_URL = location.origin + PAGE_BASE.replace(/\/dashboard$/, '')

/** A style element that a library makes is allowed by it. */
export const PAGE_NONCE = meta('patchbay-nonce')
