/** Request bodies as applications send them: prose, code, quotes, newlines, a few non-ASCII characters. The bytes are always the same. */

interface Shape {
  readonly model: string
  readonly bytes: number
  readonly stream: boolean
}

/** The body of a chat request of about `bytes` (a little less, since the text that is cut off may contain escapes). */
export const chatBody = ({ model, bytes, stream }: Shape): string => {
  const messages: Message[] = [{ role: 'system', content: SYSTEM }]
  const body = {
    model,
    messages,
    temperature: 0.2,
    max_tokens: 1024,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  }
  return filled(body, bytes)
}

/** The same conversation in the Messages format. */
export const messagesBody = ({ model, bytes, stream }: Shape): string => {
  const messages: Message[] = []
  return filled({ model, system: SYSTEM, messages, temperature: 0.2, max_tokens: 1024, stream }, bytes)
}

/** The body as JSON, with turns added until it has the wanted length. */
const filled = (body: { readonly messages: Message[]; readonly [setting: string]: unknown }, bytes: number): string => {
  const { messages } = body
  const missing = (): number => bytes - Buffer.byteLength(JSON.stringify(body))
  // Long conversations have longer turns, too.
  const passages = Math.ceil(bytes / 50_000)
  for (let turn = 0; missing() > 0; turn += 1) {
    const content = Array.from({ length: passages }, (_, index) => PASSAGES[(turn + index) % PASSAGES.length]).join('\n\n')
    messages.push({ role: turn % 2 === 0 ? 'user' : 'assistant', content })
  }
  const excess = -missing()
  const last = messages.pop()
  // The conversation must end with a turn of the user, so that it can be answered.
  if (last !== undefined) messages.push({ role: 'user', content: last.content.slice(0, -excess || undefined) })
  return JSON.stringify(body)
}

/** The same conversation for the sandbox's agent model, which calls a tool of the service `steps` times before it answers with `text`. */
export const loopBody = (steps: number, bytes: number, text: string): string => {
  const messages: Message[] = []
  const script = [...Array.from({ length: steps }, () => ({ call: { name: 'service:datetime' } })), { text }]
  const tools = steps === 0 ? {} : { tools: [{ type: 'service:datetime' }] }
  return filled({ model: 'sandbox/agent', messages, sandbox: { script }, ...tools }, bytes)
}

/** A body to make a preset from: about 2 KB, mostly the system prompt, with a tool. */
export const presetBody = (model: string): string =>
  JSON.stringify({
    model,
    messages: [
      { role: 'system', content: `${SYSTEM}\n\n${PASSAGES.slice(0, 2).join('\n\n')}` },
      { role: 'user', content: 'This message is not part of the preset.' },
    ],
    temperature: 0.3,
    top_p: 0.95,
    max_tokens: 800,
    tools: [
      {
        type: 'function',
        function: {
          name: 'find_order',
          description: 'Finds an order by its number, as printed on the invoice.',
          parameters: {
            type: 'object',
            properties: { number: { type: 'string', description: 'Such as "A-1042".' }, include_items: { type: 'boolean' } },
            required: ['number'],
          },
        },
      },
    ],
    tool_choice: 'auto',
  })

interface Message {
  role: 'system' | 'user' | 'assistant'
  content: string
}

const SYSTEM = `You are the support assistant of Kestrel Tools. Answer in the customer's language, briefly and kindly.
- Never promise a date; say "as soon as possible".
- Quote order numbers as \`A-1042\`, prices as "€ 12.50".
- If you are not sure, ask one question.`

const PASSAGES = [
  `I moved our importer to the new endpoint last week, and since then about one file in fifty is refused with "row 1: unexpected character". The files come from three offices – Zürich, Málaga and Łódź – and it is always one of the last two. My guess is the byte order mark, but the docs say:\n\n> The importer accepts UTF-8 with or without a mark.\n\nCould you look at the function below and tell me whether I read the first line the right way? I would rather not change the format of the files, since the offices' own tools read them, too.`,
  `The mark is kept by your decoder, so the first column is called "\\uFEFFnumber" and not "number". Take it off once, before you split:\n\n\`\`\`ts\nexport const readRows = (text: string): Row[] => {\n\tconst lines = text.replace(/^\\uFEFF/, '').split(/\\r?\\n/)\n\tconst names = (lines.shift() ?? '').split(';').map((name) => name.trim().replaceAll('"', ''))\n\treturn lines\n\t\t.filter((line) => line !== '')\n\t\t.map((line) => Object.fromEntries(line.split(';').map((cell, index) => [names[index] ?? \`column \${index}\`, cell])))\n}\n\`\`\`\n\nA cell with a ";" in quotes would still be cut. If you have such cells, use a real parser.`,
  `Thanks, that was it. Here is what I have now, with the log of the run:\n\n\`\`\`\n2026-11-03T08:12:44Z INFO  import "orders-malaga.csv": 1,204 rows\n2026-11-03T08:12:45Z WARN  import "orders-lodz.csv": row 77: "price" is "12,50"\n2026-11-03T08:12:45Z INFO  done in 1.3 s\n\`\`\`\n\nSo the next thing is the decimal comma. Is there a safe way to read both "12,50" and "12.50" without reading "1,250" wrong? Two of my colleagues say "just replace the comma", and I do not believe them.`,
  `They would turn "1,250" into 1.25, so you are right not to. Decide by the office, not by the text:\n\n\`\`\`json\n{\n  "offices": {\n    "zurich": { "decimal": ".", "group": "'" },\n    "malaga": { "decimal": ",", "group": "." },\n    "lodz": { "decimal": ",", "group": " " }\n  },\n  "on_unknown": "refuse"\n}\n\`\`\`\n\nRemove the group sign, replace the decimal sign, and then check with /^-?\\d+(\\.\\d{1,2})?$/ – whatever does not match is refused with its row, never guessed.`,
]
