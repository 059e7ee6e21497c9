/** Recorded requests whose payer lacked the money for them: they say nothing about the preset that they used. */
import { sql } from 'kysely'

/** Credit that the operator lacks at a provider counts as well. Only records of one error type are searched, which are few. */
export const lackedMoney = sql<boolean>`(error_type = 'payment_required' or (error_type = 'permission_denied' and record like '%"limit_source":"service_%'))`

/** Requests whose tools did not run for lack of money, so that the model answered without them. */
export const lackedTools = sql<boolean>`record like '%"stopped_by":"budget"%'`
