/*
 * The SPANK plugin of varq adds varq's options to sbatch, srun and salloc, and
 * holds the work of a job on its nodes. Between the two the promise is made:
 *
 *   sbatch    option callback   args.c      opens the box, a nameless file (box.c), and
 *                                           starts varq-filter as a helper (helper.c)
 *             cli_filter        varq.lua    has the helper ask varqd, and puts the
 *                                           ticket into the box
 *             init_post_opt     submit.c    takes it out and gives it to the job
 *             cli_filter        varq.lua    tells the helper the job; if the command
 *                                           ends before, the helper takes the promise back
 *   stepd     task_init         remote.c    finds it in the job's environment
 *                               hold.c      and has varq-wrapper hold the task
 *
 * The ticket has what the node must know of a promise, for instance until when to
 * hold the work. It is one word, in the format of the Go package wrapper/ticket.
 * This plugin reads only the number at its beginning and that of the work's time, and
 * whether it names a group; and all of one of a job without a promise.
 *
 * The ticket reaches the job's environment in two ways, under the same name, as
 * neither way is enough:
 *  - A job control variable NAME arrives in a batch job as SLURM_SPANK_NAME,
 *    whatever --export and --export-file say. It does not arrive in the steps of
 *    srun and salloc.
 *  - A variable of the submitting process whose name begins with SLURM_ arrives
 *    even with --export=NONE. It does not arrive in a batch job with --export-file.
 */
#ifndef VARQ_H
#define VARQ_H

#include <slurm/slurm.h>
#include <slurm/spank.h>

#define TICKET_NAME "VARQ_TICKET"
#define NO_PROMISE '-' /* begins the ticket of a job that asks for no promise */
#define TICKET_VARIABLE "SLURM_SPANK_" TICKET_NAME

enum { TICKET_SIZE = 2048 }; /* bytes, with the final 0; no ticket is longer */

/* args.c */
int register_options(spank_t sp);
void forget_options(spank_t sp);
const char *wrapper_path(int argc, char **argv);
const char *config_path(int argc, char **argv);
void set_helper(int argc, char **argv);

/* box.c */
int open_box(void);
int box_is_open(void);
int take_ticket(char *ticket, size_t size);
void tell_number(const char *variable, int fd);

/* helper.c */
int start_helper(const char *helper, int box);
void hide_helper(void);

/* submit.c */
int start_submission(spank_t sp);
int finish_submission(spank_t sp);

/* remote.c */
int hold_task(spank_t sp, const char *wrapper, const char *config);

/* hold.c */
enum outcome { RUN_THE_WORK, WORK_IS_CANCELLED };
enum outcome run_wrapper(char *const argv[], enum outcome otherwise);

#endif
