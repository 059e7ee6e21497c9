/** The snippet of a client with the choice of the client, for the screens Keys and Set up. */
import { SERVICE_URL } from '../page.ts'
import { environmentOf, SNIPPETS, snippetOf, withModel } from '../snippets.ts'
import { CodeBlock } from './code-block.tsx'
import { Field } from './field.tsx'

interface ClientSnippetProps {
  readonly client: string | undefined
  readonly onClient: (id: string) => void
  readonly apiKey: string
  readonly model: string
  readonly onCopied?: () => void
}

export const ClientSnippet = ({ client, onClient, apiKey, model, onCopied }: ClientSnippetProps) => {
  const snippet = snippetOf(client)
  const copied = onCopied === undefined ? {} : { onCopied }
  return (
    <div className="stack">
      <Field label="Client">
        <select value={snippet.id} onChange={(event) => onClient(event.target.value)}>
          {SNIPPETS.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <CodeBlock label="In the shell, first" text={environmentOf(SERVICE_URL, apiKey)} {...copied} />
      <CodeBlock
        label={snippet.language === 'sh' ? `Then, by ${snippet.name}` : `Then, a program with ${snippet.name}`}
        text={withModel(snippet, model)}
        {...copied}
      />
    </div>
  )
}
