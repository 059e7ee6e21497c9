/**
 * Prints every call in `/openapi.json` with everything switched on, as one JSON array of entries such as
 * `["GET","/api/v1/presets/{slug}"]`.
 */
import { describedMounts } from '../../../src/compose/described-routes.test-kit.ts'
import { openapiDocument as describing } from '../../../src/http/openapi/openapi.ts'
import { entriesOf, objectAt } from '../../../src/reference/read-json.ts'
import { atOnce } from '../../../src/lib/steps.ts'

const paths = objectAt(atOnce(describing(await describedMounts(), { version: '' })), 'paths')
const calls = entriesOf(paths).flatMap(([path, item]) => Object.keys(item).map((method) => [method.toUpperCase(), path]))
console.log(JSON.stringify(calls))
