/** The parts that management keys manage, built and joined. */
import { createCustomerKeys, type CustomerKeys } from '../byok/customer-keys.ts'
import { createProviderKeys } from '../byok/provider-keys.ts'
import type { ManagementParts } from '../http/routes/management.ts'
import { createKeys, type Keys } from '../keys/keys.ts'
import { createApplicationCodes, type ApplicationCodes } from '../sign-in/application-codes.ts'
import { createLoginLinks, type LoginLinks } from '../sign-in/login-links.ts'
import type { Peppers } from '../sign-in/secrets.ts'
import { createSessions, type Sessions } from '../sign-in/sessions.ts'
import type { Budgets } from '../ledger/budgets.ts'
import type { Credits } from '../ledger/credits.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { Models } from '../models/models.ts'
import type { Storage } from '../open-storage.ts'
import { derivedKeys } from '../root-secret.ts'
import { createActivityStore } from '../storage/usage/activity-store.ts'
import { createAuditLog } from '../storage/changes/audit-log.ts'
import { createByokStore } from '../storage/keys/byok-store.ts'
import type { Turn } from '../lib/steps.ts'
import type { TextSeal } from '../storage/rows/seal.ts'
import { createKeyStore } from '../storage/keys/key-store.ts'
import { createOauthCodeStore } from '../storage/workspaces/oauth-code-store.ts'
import { createSessionStore } from '../storage/workspaces/session-store.ts'
import { createReadWorkspaceFigures } from '../storage/usage/workspace-figures.ts'
import { createMemberStore } from '../storage/workspaces/member-store.ts'
import { createWorkspaceStore } from '../storage/workspaces/workspace-store.ts'
import { createWorkspaces } from '../workspaces/workspaces.ts'
import type { WatchedCache } from './cache-watch.ts'

export interface Management extends ManagementParts {
  readonly keys: Keys
  readonly customerKeys: CustomerKeys
  readonly sessions: Sessions
  readonly links: LoginLinks
  readonly codes: ApplicationCodes
  readonly signInPeppers: Peppers
  /** The facts that another process may change; the root secret comes first, because keys are recognised by it. */
  readonly caches: readonly WatchedCache[]
  /** Call it with the models of each newly read configuration file. */
  useModels(models: Models): void
}

export const composeManagement = (parts: {
  storage: Storage
  clock: Clock
  /** For what one node begins and another ends: repeated changes, sessions, links and codes. */
  sharedClock: Clock
  ids: IdSource
  /** The budgets and credits that admission uses too, so that a change is in force when it is answered. */
  budgets: Budgets
  credits: Credits
  areCreditsEnforced: () => boolean
  /** Seals stored answers whose content is shown only once. */
  seal: TextSeal
  startTurn: () => Turn
  figures: Ledger['figures']
  /** Resolves when everything that was spent before is written. */
  flush: () => Promise<void>
  onError: (thrown: unknown, doing: string) => void
}): Management => {
  const { storage, clock, sharedClock, ids, budgets, credits, areCreditsEnforced, figures, seal, startTurn, flush, onError } = parts
  const { database, owner } = storage
  const keyStore = createKeyStore(database)
  const byokStore = createByokStore(database)
  let peppers = derivedKeys(storage.secret, 'key-pepper')
  let signInPeppers = derivedKeys(storage.secret, 'sign-in')
  let sealingKeys = derivedKeys(storage.secret, 'provider-keys')
  let origins: ReadonlyMap<string, string> = new Map()
  let names: ReadonlyMap<string, string> = new Map()
  const originOf = (provider: string): string | null => origins.get(provider) ?? null

  const keys = createKeys({
    store: keyStore,
    clock,
    ids,
    peppers: () => peppers,
    onError: (thrown) => onError(thrown, 'a key not stored under the new root secret'),
  })
  const customerKeys = createCustomerKeys({
    store: byokStore,
    clock,
    sealingKeys: () => sealingKeys,
    originOf,
    onError: (thrown) => onError(thrown, "a customer's provider key not used"),
  })
  const sessionStore = createSessionStore(database)
  const links = createLoginLinks({ store: sessionStore, clock: sharedClock, ids, peppers: () => signInPeppers })
  const sessions = createSessions({
    store: sessionStore,
    keys,
    clock: sharedClock,
    ids,
    peppers: () => signInPeppers,
    onError: (thrown) => onError(thrown, 'sessions not read or prolonged'),
  })
  const codes = createApplicationCodes({
    store: createOauthCodeStore(database),
    keys,
    sessions,
    clock: sharedClock,
    ids,
    peppers: () => signInPeppers,
  })
  const workspaces = createWorkspaces({
    store: createWorkspaceStore(database),
    memberStore: createMemberStore(database),
    defaultId: owner.workspaceId,
    clock,
    ids,
  })
  return {
    keys,
    customerKeys,
    sessions,
    links,
    codes,
    signInPeppers: () => signInPeppers,
    budgets,
    credits,
    figures,
    workspaces,
    auditLog: createAuditLog(database, startTurn),
    activity: createActivityStore(database),
    clock,
    onceness: { clock: sharedClock, seal },
    flush,
    onError: (thrown) => onError(thrown, 'an export broke off'),
    providerName: (slug) => names.get(slug) ?? slug,
    providerKeys: createProviderKeys({
      store: byokStore,
      keyStore,
      clock,
      ids,
      sealingKey: () => sealingKeys[0],
      originOf,
      changed: customerKeys.changed,
    }),
    readWorkspaceFigures: createReadWorkspaceFigures(database),
    areCreditsEnforced,
    async spent(workspaceId) {
      await flush()
      return credits.spent(workspaceId)
    },
    caches: [
      {
        name: 'the root secret',
        async refresh() {
          const secret = await storage.rereadSecret()
          peppers = derivedKeys(secret, 'key-pepper')
          signInPeppers = derivedKeys(secret, 'sign-in')
          sealingKeys = derivedKeys(secret, 'provider-keys')
        },
      },
      { name: 'keys', refresh: keys.refreshCache },
      { name: 'provider keys of customers', refresh: customerKeys.refreshCache },
      { name: 'workspaces', refresh: workspaces.refreshCache },
    ],
    useModels(models) {
      origins = new Map(models.providers().map(({ slug, baseUrl }) => [slug, URL.parse(baseUrl)?.origin ?? baseUrl]))
      names = new Map(models.list().flatMap(({ endpoints }) => endpoints.map(({ provider }) => [provider.slug, provider.name])))
      // A secret is sealed for an address: one that was opened for the old address must not be sent to a new one.
      customerKeys.addressesChanged()
    },
  }
}
