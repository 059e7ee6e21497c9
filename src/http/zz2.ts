import { openapiDocument } from './openapi.ts'
import { describedMounts } from './openapi.test-kit.ts'
import { referencePage, REFERENCE_PAGE_POLICY } from './reference-page.ts'
const d = openapiDocument(describedMounts(), { version: '0.1.0' })
referencePage(d); const t = performance.now(); const p = referencePage(d); console.log('ms', performance.now()-t, p.length, REFERENCE_PAGE_POLICY)
require('fs').writeFileSync('/tmp/ref.html', p)
