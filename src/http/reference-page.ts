import type { JsonObject } from '../lib/json.ts'
export const referencePage = (document: JsonObject): string => JSON.stringify(document)
