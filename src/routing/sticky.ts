import type { EndpointKey } from './health.ts'

export interface Sticky {
  find(key: string): EndpointKey | null
  remember(key: string, endpoint: EndpointKey): void
}

export const createSticky = (): Sticky => ({ find: () => null, remember: () => undefined })
