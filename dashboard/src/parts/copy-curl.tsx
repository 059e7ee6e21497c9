/** The call of the API that made what is on the screen. */
import { type Call, curlOf } from '../curl.ts'
import { Copy } from './copy.tsx'

export const CopyCurl = (call: Call) => <Copy text={curlOf(call)} label="Copy as curl" />
