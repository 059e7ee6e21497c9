import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

import type { SessionResource } from '../../../../src/contract/session.ts'
import { sessionList } from '../../api/settings.ts'
import { usage } from '../../api/usage.ts'
import {
  type Budget,
  budgetsOf,
  changeMember,
  creditsOf,
  deleteBudget,
  type Member,
  membersOf,
  removeMember,
  workspaceOf,
} from '../../api/workspaces.ts'
import { Money } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded, Skeleton } from '../../parts/loaded.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Panel } from '../../parts/panel.tsx'
import { type MoreRows, ShowMore } from '../../parts/show-more.tsx'
import { Table } from '../../parts/table.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { toast } from '../../shell/toasts.tsx'
import { monthStart } from '../spend/month.ts'
import { nextMinute } from '../spend/month-budget.ts'
import { BudgetDialog } from './budget-dialog.tsx'
import { INTERVALS } from './intervals.ts'
import { InviteDialog } from './invite-dialog.tsx'
import { budgetNote, undoBudget } from './undo-budget.ts'
import { exactMoney } from '../../units.ts'

export const WorkspaceDetail = ({ id }: { id: string }) => {
  const workspace = useQuery(workspaceOf(id))
  const name = workspace.data?.name ?? 'the workspace'
  const [members, sessions] = [useInfiniteQuery(membersOf(id)), useQuery(sessionList(id))]
  return (
    <>
      <Members id={id} name={name} />
      <div hidden={members.isPending || sessions.isPending}>
        <Budgets id={id} name={name} />
      </div>
    </>
  )
}

const Members = ({ id, name }: { id: string; name: string }) => {
  const members = useInfiniteQuery(membersOf(id))
  const { member: wanted } = useSearch({ strict: false })
  const isSought = useSought(members, wanted)
  const sessions = useQuery(sessionList(id))
  const month = useSpendOfMonth(id)
  const [inviting, setInviting] = useState(false)
  const [leaving, setLeaving] = useState<Member | null>(null)
  const [next, setNext] = useState<{ member: Member; role: string } | null>(null)
  return (
    <Panel title={`Members of ${name}`} actions={<Button onClick={() => setInviting(true)}>Invite link</Button>}>
      {wanted === undefined ? null : (
        <Link to="." search={(before) => ({ ...before, member: undefined })} className="chip" resetScroll={false}>
          <span className="cut">{wanted}</span> <span aria-hidden="true">×</span>
          <span className="hidden-text">show all members</span>
        </Link>
      )}
      <Loaded query={members} rows={4}>
        {(rows) => (
          <Loaded query={sessions} rows={4}>
            {(open) => (
              <Table
                label={`Members of ${name}`}
                rows={wanted === undefined ? rows : rows.filter(({ user_id }) => user_id === wanted)}
                rowKey={({ user_id }) => user_id}
                empty={
                  wanted === undefined ? (
                    <Empty action={<Button onClick={() => setInviting(true)}>Invite link</Button>}>Nobody is a member yet.</Empty>
                  ) : isSought ? (
                    <Skeleton rows={1} />
                  ) : (
                    <NoMember of={name} id={wanted} />
                  )
                }
                columns={[
                  { title: 'Person', isHead: true, cell: called },
                  { title: 'Mail', cell: ({ email }) => email ?? '–', wideOnly: true },
                  {
                    title: 'Role',
                    cell: (member) => (
                      <select
                        aria-label={`Role of ${called(member)}`}
                        value={member.role}
                        // The keyboard changes a closed list with each press, so nothing is done before it is confirmed.
                        onChange={(event) => setNext({ member, role: event.target.value })}
                      >
                        <option value="admin">admin</option>
                        <option value="member">member</option>
                      </select>
                    ),
                  },
                  {
                    title: 'Keys',
                    cell: ({ user_id }) => (
                      <Link to="/keys" search={{ q: user_id }}>
                        keys
                      </Link>
                    ),
                    wideOnly: true,
                  },
                  {
                    title: 'Spend this month',
                    align: 'right',
                    cell: ({ user_id }) => (
                      <Link to="/spend" search={{ ...month.range, user_id, group: 'key' }}>
                        <Money of={month.of(user_id)} />
                      </Link>
                    ),
                    wideOnly: true,
                  },
                  { title: 'Last seen', cell: ({ user_id }) => <LastSeen of={user_id} sessions={open} />, wideOnly: true },
                  { title: 'Since', cell: ({ created_at }) => <When at={created_at} />, wideOnly: true },
                  {
                    title: 'Actions',
                    align: 'right',
                    cell: (member) => (
                      <Menu
                        label={`Actions for ${called(member)}`}
                        items={[{ label: 'Remove', onSelect: () => setLeaving(member), isDanger: true }]}
                      />
                    ),
                  },
                ]}
              />
            )}
          </Loaded>
        )}
      </Loaded>
      {wanted === undefined ? <ShowMore list={members} shown={members.data?.length ?? 0} /> : null}
      {inviting ? <InviteDialog workspaceId={id} onClose={() => setInviting(false)} /> : null}
      {next === null ? null : (
        <Confirm
          title={`Make ${called(next.member)} ${next.role === 'admin' ? 'an admin' : 'a member'}`}
          action={`Make ${called(next.member)} ${next.role}`}
          onConfirm={() => changeMember(id, next.member.user_id, { role: next.role })}
          onClose={() => setNext(null)}
        >
          <p>{next.role === 'admin' ? ADMINS : MEMBERS} Their sessions end now, and they sign in anew.</p>
        </Confirm>
      )}
      {leaving === null ? null : (
        <Confirm
          title={`Remove ${called(leaving)}`}
          action={`Remove ${called(leaving)}`}
          isDanger
          onConfirm={() => removeMember(id, leaving.user_id)}
          onClose={() => setLeaving(null)}
        >
          <p>Their sessions end now. Their keys stay; disable those that only they used.</p>
        </Confirm>
      )}
    </Panel>
  )
}

const ADMINS = 'An admin manages everything in this workspace.'
const MEMBERS = 'A member sees and does only what concerns their own keys and requests.'

/** By person. A sum is unknown until all are loaded, and if so many people spent more that it is not listed by itself. */
const useSpendOfMonth = (workspaceId: string) => {
  const nowMs = nextMinute(useNow())
  const range = { from: monthStart(nowMs), to: new Date(nowMs).toISOString() }
  const sums = useQuery({
    ...usage({ ...range, interval: 'day', group_by: 'user', top: 50, workspace_id: workspaceId }),
    placeholderData: (before) => before,
  })
  const of = (userId: string): number | null => {
    const groups = sums.data?.groups
    const cost = groups?.find(({ user }) => user === userId)?.cost
    return cost ?? (groups === undefined || groups.some(({ other }) => other === true) ? null : 0)
  }
  return { range, of }
}

/** Loads members until the wanted one is there; true meanwhile. */
const useSought = (members: MoreRows & { readonly data: readonly Member[] | undefined }, wanted: string | undefined): boolean => {
  const { data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = members
  const isThere = wanted === undefined || data?.some(({ user_id }) => user_id === wanted) === true
  const isSought = !isThere && hasNextPage && !isFetchNextPageError
  useEffect(() => {
    if (isSought && !isFetching) void fetchNextPage()
  }, [isSought, isFetching, fetchNextPage])
  return isSought
}

/** A person may be a member of another workspace, and have keys and spend all the same. */
const NoMember = ({ of: name, id }: { of: string; id: string }) => (
  <Empty>
    <span>
      {id} is no member of {name}. See their{' '}
      <Link to="/keys" search={{ q: id }}>
        keys
      </Link>{' '}
      or{' '}
      <Link to="/spend" search={{ user_id: id, group: 'key' }}>
        spend
      </Link>
      .
    </span>
  </Empty>
)

/** Read from the open sessions; an ended session is not listed any more. */
const LastSeen = ({ of: person, sessions }: { of: string; sessions: readonly SessionResource[] }) => {
  const [last] = sessions
    .filter(({ user_id }) => user_id === person)
    .map(({ last_used_at }) => last_used_at)
    .toSorted()
    .toReversed()
  return last === undefined ? (
    <span className="faint" title="None of the last 100 sessions that are open is theirs.">
      –
    </span>
  ) : (
    <When at={last} />
  )
}

const called = ({ name, user_id }: Member): string => name ?? user_id

const Budgets = ({ id, name }: { id: string; name: string }) => {
  const budgets = useQuery(budgetsOf(id))
  const credit = useQuery(creditsOf(id))
  const [adding, setAdding] = useState(false)
  const remove = async ({ limit_usd: limit, reset_interval }: Budget): Promise<void> => {
    const interval = reset_interval ?? 'lifetime'
    await deleteBudget(id, interval)
    toast(
      `The budget of ${exactMoney(limit)} ${INTERVALS[interval]} is removed.`,
      () => undoBudget(id, interval, { before: limit, left: null }),
      budgetNote(id, interval),
    )
  }
  return (
    <Panel title={`Budgets of ${name}`} actions={<Button onClick={() => setAdding(true)}>Set budget</Button>}>
      <Loaded query={budgets} rows={2}>
        {(rows) => (
          <Table
            label={`Budgets of ${name}`}
            rows={rows}
            rowKey={(budget) => budget.id}
            empty={<Empty>No budget bounds what this workspace spends.</Empty>}
            columns={[
              {
                title: 'Limit',
                isHead: true,
                cell: ({ limit_usd, reset_interval }) => (
                  <>
                    <Money of={limit_usd} /> {INTERVALS[reset_interval ?? 'lifetime']}
                  </>
                ),
              },
              {
                title: 'Own provider keys',
                cell: ({ include_byok_in_budgets: counts }) => (counts ? 'count' : 'do not count'),
                wideOnly: true,
              },
              {
                title: 'Actions',
                align: 'right',
                cell: (budget) => (
                  <Button kind="quiet" onClick={() => remove(budget)}>
                    Remove
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <Loaded query={credit} rows={1}>
        {({ total_credits, total_usage }) =>
          total_credits === 0 ? null : (
            <p className="row">
              Credit: <Money of={total_usage} /> of <Money of={total_credits} />{' '}
              <Meter label="Credit" used={total_usage} limit={total_credits} />
            </p>
          )
        }
      </Loaded>
      {adding && budgets.data !== undefined ? <BudgetDialog id={id} budgets={budgets.data} onClose={() => setAdding(false)} /> : null}
    </Panel>
  )
}
