/** The roles of a conversation, by interface. */
export const CHAT_ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const
export const RESPONSES_ROLES = ['user', 'system', 'developer', 'assistant'] as const
export const MESSAGES_ROLES = ['user', 'assistant', 'system'] as const
