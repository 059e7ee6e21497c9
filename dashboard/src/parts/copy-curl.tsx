/** Copies the API call whose result the screen shows. */
import { type Call, curlOf } from '../curl.ts'
import { Copy } from './copy.tsx'

export const CopyCurl = (call: Call) => <Copy text={curlOf(call)} label="Copy as curl" />
