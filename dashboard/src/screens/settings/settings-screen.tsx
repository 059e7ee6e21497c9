/** The settings of a workspace, the person who is signed in, and the settings of the service. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'

import { currentSession } from '../../api/session.ts'
import { keyList } from '../../api/keys.ts'
import { endSessionOf, serviceFacts, sessionList } from '../../api/settings.ts'
import { workspaceOf } from '../../api/workspaces.ts'
import { Button } from '../../parts/button.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded, Skeleton } from '../../parts/loaded.tsx'
import { OnceKnown } from '../../parts/once-known.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Person } from '../../parts/person.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'
import { toast } from '../../shell/toasts.tsx'
import { browserName } from './browser-name.ts'
import { BrowserSettings } from './browser-settings.tsx'
import { EffectiveSettings } from './effective-settings.tsx'
import { LoggingSettings } from './logging-settings.tsx'

export const SettingsScreen = () => {
  const session = useQuery(currentSession)
  const isAdmin = session.data?.role === 'admin'
  const service = useQuery({ ...serviceFacts, enabled: isAdmin })
  const sessions = useQuery(sessionList())
  const workspace = useSearch({ strict: false }).workspace ?? session.data?.workspace_id
  const isLoggingKnown = useIsLoggingKnown(workspace, isAdmin)
  return (
    <>
      <ScreenHead title="Settings">
        <CopyCurl path={isAdmin ? '/service' : '/sessions'} />
      </ScreenHead>
      <Panel title="This browser">
        <BrowserSettings />
      </Panel>
      {session.isPending ? <Skeleton rows={8} /> : null}
      {isAdmin && workspace !== undefined ? (
        <Panel title="Logging">
          <LoggingSettings workspaceId={workspace} />
        </Panel>
      ) : null}
      {session.isPending ? null : (
        <OnceKnown isKnown={isLoggingKnown} rows={4}>
          <Sessions />
          {isAdmin ? (
            <OnceKnown isKnown={!sessions.isPending} rows={6}>
              <Panel title="Service">
                <Loaded query={service} rows={6}>
                  {(facts) => <EffectiveSettings facts={facts} />}
                </Loaded>
              </Panel>
            </OnceKnown>
          ) : null}
        </OnceKnown>
      )}
    </>
  )
}

/** True if the part about logging has its final height, with the keys that it offers. */
const useIsLoggingKnown = (workspaceId: string | undefined, isShown: boolean): boolean => {
  const workspace = useQuery({ ...workspaceOf(workspaceId ?? ''), enabled: isShown && workspaceId !== undefined })
  const { is_observability_io_logging_enabled: isOn, io_logging_api_key_ids: chosen } = workspace.data ?? {}
  const hasKeys = isOn === true && chosen !== null
  const keys = useInfiniteQuery({ ...keyList({ status: 'active', workspace_id: workspaceId }), enabled: isShown && hasKeys })
  return !isShown || !(workspace.isPending || (hasKeys && keys.isPending))
}

const Browser = ({ agent }: { agent: string | null }) => (
  <span className="cut agent" title={agent ?? undefined}>
    {agent === null ? '–' : (browserName(agent) ?? agent)}
  </span>
)

const Sessions = () => {
  const sessions = useQuery(sessionList())
  return (
    <Panel title="Sessions">
      <Loaded query={sessions} rows={2}>
        {(rows) => (
          <Table
            label="Sessions"
            rows={rows}
            rowKey={({ id }) => id}
            empty={<Empty>Nobody is signed in.</Empty>}
            columns={[
              {
                title: 'Person',
                isHead: true,
                cell: ({ user_id, is_current }) => (
                  <>
                    <Person id={user_id} />
                    {is_current ? <span className="tag">this one</span> : null}
                  </>
                ),
              },
              { title: 'Role', cell: ({ role }) => role },
              { title: 'Browser', cell: ({ user_agent }) => <Browser agent={user_agent} />, wideOnly: true },
              { title: 'Signed in', cell: ({ created_at }) => <When at={created_at} />, wideOnly: true },
              { title: 'Last used', cell: ({ last_used_at }) => <When at={last_used_at} /> },
              {
                title: 'Actions',
                align: 'right',
                cell: ({ id, user_id, is_current }) =>
                  is_current ? null : (
                    <Button
                      kind="quiet"
                      aria-label={`End the session of ${user_id}`}
                      onClick={() => endSessionOf(id).then(() => toast(`The session of ${user_id} is over.`))}
                    >
                      End
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  )
}
