/** An MCP server on stdio with one tool. */
import { createInterface } from 'node:readline'

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'mail', version: '1.0.0' } }),
  'tools/list': () => ({
    tools: [
      {
        name: 'find_letter',
        description: 'Finds a letter.',
        inputSchema: { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] },
      },
    ],
  }),
  'tools/call': ({ arguments: { from } }) => ({ content: [{ type: 'text', text: `A letter from ${from}` }] }),
  ping: () => ({}),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = Object.hasOwn(ANSWERS, method)
    ? { result: ANSWERS[method](params ?? {}) }
    : { error: { code: -32_601, message: 'Method not found' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
