/** The names of the screens, as the navigation and the command palette have them. */
export const navigationStrings = {
  mail: 'Mail',
  setUp: 'Set up',
  domains: 'Domains',
} as const
