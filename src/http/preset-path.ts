import { presetSlug } from '../contract/preset-name.ts'
import { validate } from '../contract/validate.ts'
import type { PresetRef } from '../storage/presets/preset-ref.ts'
import { reachOf, type RouteRequest } from './route.ts'

/** The preset that the path of a management request names. Throws `invalid_request`. */
export const presetIn = (request: RouteRequest): PresetRef => ({
  workspaceId: reachOf(request).workspaceId,
  slug: validate(presetSlug, request.params['slug'], ['slug']),
})
