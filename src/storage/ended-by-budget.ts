/** Requests on record whose payer had no money for them: that says nothing of the preset that they used. */
import { sql } from 'kysely'

/** Credit that the operator lacks at a provider counts as well. Few records are looked into: those of one type of error. */
export const lackedMoney = sql<boolean>`(error_type = 'payment_required' or (error_type = 'permission_denied' and record like '%"limit_source":"service_%'))`

/** Their tools did not run for want of money, and the model answered without. */
export const lackedTools = sql<boolean>`record like '%"stopped_by":"budget"%'`
