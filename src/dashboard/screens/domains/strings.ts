export const domainStrings = {
  title: 'Domains',
  hint: 'Names that you send from and receive for.',
  name: 'Domain',
  status: 'Status',
  created: 'Added',
  empty: 'No domains yet',
  emptyHint: 'A domain is yours once its DNS says so. Then you can send from it and receive for it.',
} as const
