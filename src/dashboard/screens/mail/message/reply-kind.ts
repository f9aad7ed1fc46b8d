/** What is written about a message: an answer to its sender, to all, or a forward; as the API's paths have it. */
export type ReplyKind = 'reply' | 'reply-all' | 'forward'
