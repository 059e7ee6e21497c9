/**
 * The body sent to the provider. No record stores it, so the service builds it again from the request with a dry run: it shows what would
 * be sent now.
 */
import { useQuery } from '@tanstack/react-query'

import type { Generation } from '../../api/generations.ts'
import { Copy } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { JsonText } from '../../parts/json-text.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { warningKey, WarningText } from '../../parts/warning-text.tsx'
import { inferencePath, requestBody } from '../../playing/conversation-input.ts'
import { dryRunOf } from '../../playing/dry-run.ts'
import { KeptContents } from './kept-contents.tsx'

type Body = Readonly<Record<string, unknown>>

export const SentUpstream = ({ record }: { record: Generation }) => {
  const path = inferencePath(record.interface)
  if (path === undefined)
    return <Empty>The service writes the body for a provider anew for Chat Completions, Responses and Messages alone.</Empty>
  return (
    <KeptContents
      id={record.id}
      withoutThem={
        record.settings === null ? null : (
          <WrittenAnew
            record={record}
            path={path}
            body={withoutTexts(record)}
            note="The settings alone were kept, so “…” stands for the texts."
          />
        )
      }
    >
      {({ request }) =>
        request === null ? (
          <Empty>The request was too large to keep whole, so its body for the provider cannot be written anew.</Empty>
        ) : (
          <WrittenAnew record={record} path={path} body={atItsVersion(request, record)} />
        )
      }
    </KeptContents>
  )
}

interface WrittenAnewProps {
  readonly record: Generation
  readonly path: string
  readonly body: Body
  readonly note?: string
}

const WrittenAnew = ({ record, path, body, note = '' }: WrittenAnewProps) => {
  const result = useQuery({ queryKey: ['dry-run', record.id, body], queryFn: () => dryRunOf(path, body), gcTime: 0, retry: false })
  const asked = (record.provider_responses ?? []).map(({ provider_name: name }) => name)
  return (
    <Loaded query={result} rows={6}>
      {({ upstream_request: upstream, warnings }) => (
        <div className="stack">
          <p className="note">
            No body for a provider is kept. This is a dry run: what the service would send for this request now, with today’s presets,
            guardrails and providers, as your own request. Keys and media are left out. {note}
          </p>
          {upstream === null ? (
            <Empty>No body would be sent: nobody could be asked now, or the provider is inside the service.</Empty>
          ) : (
            <>
              <div className="row">
                <span>
                  To {upstream.provider} ({upstream.model})
                </span>
                {asked.length === 0 ? null : <span className="soft">Then asked: {asked.join(', ')}</span>}
                <Copy text={JSON.stringify(upstream.body, null, 2)} label="Copy body" />
              </div>
              <JsonText value={upstream.body} />
            </>
          )}
          {warnings.map((warning) => (
            <p className="note warn" key={warningKey(warning)}>
              <WarningText of={warning} />
            </p>
          ))}
        </div>
      )}
    </Loaded>
  )
}

/** If the request named no version of its preset, the version that served it is used. */
const atItsVersion = (body: Body, { preset_slug: slug, preset_version: version }: Generation): Body =>
  slug !== null && version !== null && body['model'] === `@preset/${slug}` ? { ...body, model: `@preset/${slug}@${version}` } : body

/** The settings of a record already include those of its preset. */
const withoutTexts = (record: Generation): Body => {
  const dialect = record.interface === 'responses' || record.interface === 'messages' ? record.interface : 'chat'
  const settings = { model: record.model, ...record.settings }
  return requestBody({ interface: dialect, system: '', messages: [{ role: 'user', text: '…' }], settings, stream: record.streamed })
}
