/** The names of the operators' screens. */
export const instanceNavigationStrings = {
  health: 'Health',
  mail: 'Mail',
  queue: 'Queue',
  quarantine: 'Quarantine',
  delivery: 'Delivery',
  machine: 'Machine',
  storage: 'Storage',
  backups: 'Backups',
  certificates: 'Certificates',
  access: 'Access',
  organizations: 'Organizations',
  audit: 'Audit log',
  operators: 'Operators',
} as const
