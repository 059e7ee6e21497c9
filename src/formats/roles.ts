/** Who may speak in a conversation, by the interface. */
export const CHAT_ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const
export const RESPONSES_ROLES = ['user', 'system', 'developer', 'assistant'] as const
export const MESSAGES_ROLES = ['user', 'assistant', 'system'] as const
