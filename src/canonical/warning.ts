import type { ErrorType } from '../errors.ts'

/** Something that the service did not do as requested. It is returned in the service metadata; strict mode turns it into a 400. */
export interface Warning {
  /** A stable code for programs. */
  readonly code: WarningCode
  /** Path of the request field, e.g. `tools[2].type`. */
  readonly field: string
  readonly message: string
  /** The type of a failure that is delivered as an answer. */
  readonly error_type?: ErrorType
}

export type WarningCode =
  | 'unknown_tool_type'
  | 'unknown_plugin'
  | 'locked_field'
  | 'unsupported_field'
  | 'mapped_field'
  | 'untranslated_output'
  | 'tool_call_after_limit'
  | 'search_failed'
  | 'unopened_result'
  | 'invalid_tool_call'
  | 'answered_error'
