export interface TraceTables {
  traces_waiting: TracesWaitingTable
  trace_senders: TraceSendersTable
}

/** Traces on their way to a destination. */
export interface TracesWaitingTable {
  id: string
  destination_id: string
  /** JSON: what is sent, and where it is put. */
  sealed: string
  created_at: string
  /** The process that sends it. */
  held_by: string
  /** Only read by processes of an earlier version. */
  held_until: string
}

/** Processes that send traces, and until when each holds its own. */
interface TraceSendersTable {
  id: string
  held_until: string
}
