import type Database from 'better-sqlite3'

/**
 * Removes a topic with its queues, their messages, and what every group and every delayed message has to do with
 * them. Inside a write job.
 */
export function removeTopic(db: Database.Database, topicId: number): void {
  // A dead letter that waits in front of one of its queues would wait for ever.
  db.prepare<[number]>(
    `update dead_letter set state = 'dead' where state = 'replayed' and settled_at is null
       and queue_row in (select id from queue where topic_id = ?)`,
  ).run(topicId)
  const queueRows = db
    .prepare<[number], number>(`select id from queue where topic_id = ?`)
    .pluck()
    .all(topicId)
  for (const id of queueRows) db.exec(`drop table message_${id}`)
  // All else refers to its queues.
  db.prepare<[number]>(`delete from topic where id = ?`).run(topicId)
}
