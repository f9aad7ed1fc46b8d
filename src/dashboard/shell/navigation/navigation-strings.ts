/** The names of the screens, as the navigation and the command palette have them. */
export const navigationStrings = {
  today: 'Today',
  mail: 'Mail',
  sent: 'Sent',
  templates: 'Templates',
  setUp: 'Set up',
  domains: 'Domains',
  suppressions: 'Suppressions',
  programs: 'Programs',
  organization: 'Organization',
  keys: 'API keys',
  people: 'People',
  webhooks: 'Webhooks',
  events: 'Events',
  requests: 'Requests',
  settings: 'Settings',
  mailboxes: 'Mailboxes',
} as const
