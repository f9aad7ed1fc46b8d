/** What the lists of senders in an organization's settings say. */
export const senderStrings = {
  title: 'Senders',
  hint: 'Mail of blocked senders goes to spam. Mail of allowed senders stays out of it, whatever the spam filter says; if it fails DMARC it goes there all the same.',
  add: 'Add sender',
  addTitle: 'Allow or block a sender',
  sender: 'Address or domain',
  senderHint: 'A domain stands for its subdomains too. The nearest entry counts.',
  listing: 'Their mail is',
  listings: { allow: 'allowed', block: 'blocked' },
  listingHints: { allow: 'The spam filter does not move it.', block: 'It is filed as spam.' },
  since: 'Since',
  actions: 'Actions',
  remove: (sender: string) => `Remove ${sender}`,
  removed: (sender: string) => `${sender} is neither allowed nor blocked now.`,
  saved: (sender: string, listing: string) => `${sender} is ${listing}.`,
  save: 'Save',
  none: 'No sender is allowed or blocked.',
} as const
