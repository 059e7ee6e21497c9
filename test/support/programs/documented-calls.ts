/** Prints every call that `/openapi.json` names with everything switched on: `["GET","/api/v1/presets/{slug}"]`, all in one JSON array. */
import { describedMounts } from '../../../src/compose/described-routes.test-kit.ts'
import { openapiDocument } from '../../../src/http/openapi.ts'
import { entriesOf, objectAt } from '../../../src/reference/read-json.ts'

const paths = objectAt(openapiDocument(describedMounts(), { version: '' }), 'paths')
const calls = entriesOf(paths).flatMap(([path, item]) => Object.keys(item).map((method) => [method.toUpperCase(), path]))
console.log(JSON.stringify(calls))
