/** One key: its limits, the tightest first, and the actions on it. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { changeKey, isKeyHash, type Key, KEYS_MS, type KeyLimit, oneKey, revokeKey, rotateKey } from '../../api/keys.ts'
import { currentSession } from '../../api/session.ts'
import { instant } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { useKeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Person } from '../../parts/person.tsx'
import { When } from '../../parts/when.tsx'
import { toast } from '../../shell/toasts.tsx'
import { KeyMade } from './key-made.tsx'
import { KeyState } from './key-state.tsx'
import { LimitDialog } from './limit-dialog.tsx'

export const KeyDetail = ({ hash }: { hash: string }) => {
  const isHash = isKeyHash(hash)
  const key = useQuery({
    ...oneKey(hash),
    enabled: isHash,
    // A key that somebody revoked stays away; after any other failure it is asked for again.
    refetchInterval: ({ state: { error } }) => (error instanceof ApiError && error.status === 404 ? false : KEYS_MS),
  })
  return (
    <Panel
      title={useKeyName(key.data?.name ?? 'Key')}
      actions={
        <Link to="." search={(before) => ({ ...before, key: undefined })} className="icon-button" aria-label="Close" resetScroll={false}>
          ×
        </Link>
      }
    >
      {isHash ? (
        <Loaded query={key} rows={13}>
          {(data) => <KeyFacts of={data} />}
        </Loaded>
      ) : (
        <p className="note">
          No key has this address: a key is named by the 64 digits of its hash. Search the list by its name or its last four.
        </p>
      )}
    </Panel>
  )
}

type Act = 'revoke' | 'rotate' | 'limit'

const KeyFacts = ({ of: key }: { of: Key }) => {
  const name = useKeyName(key.name)
  const [act, setAct] = useState<Act | null>(null)
  const [rotated, setRotated] = useState<string | null>(null)
  const navigate = useNavigate()
  const isMember = useQuery(currentSession).data?.role === 'member'
  const close = (): void => setAct(null)
  const setDisabled = async (disabled: boolean): Promise<void> => {
    await changeKey(key.hash, { disabled })
    const undo = (): void => void changeKey(key.hash, { disabled: !disabled })
    toast(`${name} is ${disabled ? 'disabled' : 'active'}: in force now.`, undo, `state of key ${key.hash}`)
  }
  return (
    <div className="stack">
      {isMember ? null : (
        <div className="row">
          <Button onClick={() => setAct('limit')}>Change limit</Button>
          <Menu
            label={`Actions for ${name}`}
            items={[
              { label: 'Rotate', onSelect: () => setAct('rotate') },
              { label: key.disabled ? 'Enable' : 'Disable', onSelect: () => void setDisabled(!key.disabled) },
              { label: 'Revoke', onSelect: () => setAct('revoke'), isDanger: true },
            ]}
          />
        </div>
      )}
      <Facts
        facts={[
          ['State', <KeyState key="state" of={key} />],
          ['Person', <Person key="person" id={key.creator_user_id} />],
          ['Last used', <When key="used" at={key.last_used_at} />],
          ['Made', <When key="made" at={key.created_at} />],
          ['Ends', key.expires_at === null ? 'never' : instant(key.expires_at)],
          [
            'Spent',
            <span key="spent">
              <Money of={key.usage_daily} /> today · <Money of={key.usage_monthly} /> this month · <Money of={key.usage} /> in all
            </span>,
          ],
          ['Requests a minute', key.rpm_limit ?? 'as the service says'],
          [
            'Hash',
            <Copy key="hash" text={key.hash}>
              {`${key.hash.slice(0, 12)}…`}
            </Copy>,
          ],
        ]}
      />
      <h3>What bounds it</h3>
      <LimitChain limits={key.limits ?? []} />
      <Link to="/requests" search={{ q: `key:${key.hash}`, range: '7d' }}>
        Its requests of the last 7 days
      </Link>
      {act === 'limit' ? <LimitDialog of={key} onClose={close} /> : null}
      {act === 'revoke' ? (
        <Confirm
          title={`Revoke ${name}`}
          action={`Revoke ${name}`}
          name={name}
          isDanger
          onConfirm={async () => {
            await revokeKey(key.hash)
            await navigate({ to: '.', search: (before) => ({ ...before, key: undefined }), replace: true })
            toast(`${name} is revoked: its next request is 401.`)
          }}
          onClose={close}
        >
          <p>Programs that use it get 401 from now on. It cannot be brought back; its requests and what they cost stay on record.</p>
        </Confirm>
      ) : null}
      {act === 'rotate' ? (
        <Confirm
          title={`Rotate ${name}`}
          action="Rotate"
          onConfirm={async () => setRotated((await rotateKey(key.hash, GRACE_SECONDS)).key)}
          onClose={close}
        >
          <p>A new key takes its name and limits. The old one works for another hour, then it is 401.</p>
        </Confirm>
      ) : null}
      {rotated === null ? null : <KeyMade title={`${name} has a new key`} apiKey={rotated} onClose={() => setRotated(null)} />}
    </div>
  )
}

const GRACE_SECONDS = 3600

const SCOPES: Readonly<Record<KeyLimit['scope'], string>> = {
  api_key: 'Guardrail of the key',
  credits: 'Credit of the workspace',
  key_limit: 'This key',
  member: 'Its person',
  workspace: 'Workspace',
  workspace_default_key: 'Every key of the workspace',
  workspace_default_member: 'Every person of the workspace',
}

/** The tightest limit comes first: it will be the first to refuse a request. */
const LimitChain = ({ limits }: { limits: readonly KeyLimit[] }) => {
  if (limits.length === 0) return <p className="soft">Nothing bounds what it may spend.</p>
  return (
    <ol className="chain">
      {limits.map((limit, index) => (
        <li key={`${limit.scope}${limit.budget_id ?? ''}${index}`}>
          <span className="row between">
            <span>
              {SCOPES[limit.scope]}
              {index === 0 && limits.length > 1 ? <span className="tag">tightest</span> : null}
            </span>
            <span className="number">
              <Money of={limit.spend_usd} /> of <Money of={limit.limit_usd} />
            </span>
          </span>
          <Meter label={SCOPES[limit.scope]} used={limit.spend_usd + limit.held_usd} limit={limit.limit_usd} />
          <span className="faint small">
            {resetOf(limit)}
            {limit.held_usd === 0 ? null : (
              <>
                ; <Money of={limit.held_usd} /> held by requests that run
              </>
            )}
          </span>
        </li>
      ))}
    </ol>
  )
}

const resetOf = ({ resets_at, reset_interval }: KeyLimit): string => {
  if (resets_at !== null) return `resets ${instant(resets_at)}`
  return reset_interval === null ? 'for its whole life' : `resets ${reset_interval}`
}
