-- Older processes may run.
create table "identities" ("organization_id" text collate "C" not null, "user_id" text collate "C" not null, "issuer" text collate "C" not null, "subject" text collate "C" not null, "created_at" bigint not null, primary key ("organization_id", "user_id", "issuer"));
alter table "identities" add constraint "identities_by_subject" unique ("issuer", "subject");
alter table identities add constraint identities_organization_id_user_id_foreign foreign key (organization_id, user_id) references members (organization_id, user_id) on delete cascade;
