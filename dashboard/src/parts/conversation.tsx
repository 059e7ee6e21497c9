/** Shows a request or an answer of any of the three interfaces as a conversation, and parts of unknown types as JSON. */
import { turnsOf } from './conversation-turns.ts'
import { FoldedText } from './folded-text.tsx'
import { JsonText } from './json-text.tsx'

export const Conversation = ({ body }: { body: unknown }) => {
  const turns = turnsOf(body)
  return turns.length === 0 ? (
    <JsonText value={body} />
  ) : (
    <ol className="conversation">
      {turns.map(({ role, parts }, index) => (
        <li key={index} className={`turn ${role === 'assistant' ? 'assistant' : ''}`}>
          <h3>{role}</h3>
          {parts.map((part, position) =>
            part.kind === 'text' ? (
              <FoldedText key={position} text={part.text} />
            ) : (
              <div key={position} className="part-card">
                <p className="soft small">{part.title}</p>
                {part.value === undefined ? null : <JsonText value={part.value} />}
              </div>
            ),
          )}
        </li>
      ))}
    </ol>
  )
}
