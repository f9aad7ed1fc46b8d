/** The names of the screens, as the navigation and the command palette have them. */
export const navigationStrings = {
  today: 'Today',
  mail: 'Mail',
  sent: 'Sent',
  templates: 'Templates',
  setUp: 'Set up',
  domains: 'Domains',
  suppressions: 'Suppressions',
  organization: 'Organization',
  keys: 'API keys',
  people: 'People',
  requests: 'Requests',
  settings: 'Settings',
  mailboxes: 'Mailboxes',
} as const
