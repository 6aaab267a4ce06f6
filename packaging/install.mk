# make install, uninstall and rpm. The directories follow the GNU conventions:
#
#   make install PREFIX=/usr/local DESTDIR=/tmp/stage
#
# Configuration goes to /etc whatever the prefix, because that is where varq and
# Slurm look for it, and a file that is already there is left alone. Without DESTDIR,
# as root, install also creates the user varq, and it prints what is left to do.

BINDIR          ?= $(PREFIX)/bin
SBINDIR         ?= $(PREFIX)/sbin
DATADIR         ?= $(PREFIX)/share
MANDIR          ?= $(DATADIR)/man
SYSCONFDIR      ?= /etc
UNITDIR         ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR     ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR     ?= $(PREFIX)/lib/tmpfiles.d
BASHCOMPDIR     ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR      ?= $(DATADIR)/zsh/site-functions
FISHCOMPDIR     ?= $(DATADIR)/fish/vendor_completions.d
SLURM_CONFDIR   ?= $(SYSCONFDIR)/slurm
SLURM_PLUGINDIR ?= $(shell packaging/slurm-plugindir)

# Where `make build` left what is to be installed.
BUILT ?= bin

MAN_PAGES := varq.1 varq-wrapper.1 varq.yaml.5 varq.7 varqd.8 varq-agent.8

# Everything that install writes and uninstall removes again: first the plugstack
# line, then the plugin that it names, so that Slurm goes on working throughout.
INSTALLED = \
  $(SLURM_CONFDIR)/plugstack.conf.d/varq.conf \
  $(SLURM_PLUGINDIR)/spank_varq.so \
  $(addprefix $(BINDIR)/,varq varq-filter varq-wrapper) \
  $(addprefix $(SBINDIR)/,varqd varq-agent) \
  $(addprefix $(DATADIR)/varq/,varq.lua cli_filter.lua) \
  $(addprefix $(UNITDIR)/,varqd.service varq-agent.service) $(SYSUSERSDIR)/varq.conf $(TMPFILESDIR)/varq.conf \
  $(BASHCOMPDIR)/varq $(ZSHCOMPDIR)/_varq $(FISHCOMPDIR)/varq.fish \
  $(foreach page,$(MAN_PAGES),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(page))

# Those of them that are written by a command, not copied with a mode. PLACE puts
# these directories in the place of the usual ones.
MADE = \
  $(addprefix $(DATADIR)/varq/,varq.lua cli_filter.lua) \
  $(SLURM_CONFDIR)/plugstack.conf.d/varq.conf $(addprefix $(UNITDIR)/,varqd.service varq-agent.service) \
  $(BASHCOMPDIR)/varq $(ZSHCOMPDIR)/_varq $(FISHCOMPDIR)/varq.fish
PLACE = sed -e 's|/usr/bin/varq|$(BINDIR)/varq|g' -e 's|/usr/sbin/varq|$(SBINDIR)/varq|g' \
  -e 's|/usr/share/varq|$(DATADIR)/varq|g'

# What install writes once, and uninstall leaves.
CONFIGURATION = $(SYSCONFDIR)/varq/varq.yaml

.PHONY: install uninstall rpm

install:
	@test -x $(BUILT)/varq || { echo 'nothing to install yet: run make build first' >&2; exit 1; }
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED) $(CONFIGURATION))))
	install -m 755 $(addprefix $(BUILT)/,varq varq-filter varq-wrapper) $(DESTDIR)$(BINDIR)
	install -m 755 $(addprefix $(BUILT)/,varqd varq-agent) $(DESTDIR)$(SBINDIR)
	install -m 755 $(BUILT)/spank_varq.so $(DESTDIR)$(SLURM_PLUGINDIR)
	$(PLACE) plugin/lua/varq.lua > $(DESTDIR)$(DATADIR)/varq/varq.lua
	$(PLACE) plugin/lua/cli_filter.lua > $(DESTDIR)$(DATADIR)/varq/cli_filter.lua
	$(PLACE) packaging/slurm/plugstack-varq.conf > $(DESTDIR)$(SLURM_CONFDIR)/plugstack.conf.d/varq.conf
	$(PLACE) packaging/systemd/varqd.service > $(DESTDIR)$(UNITDIR)/varqd.service
	$(PLACE) packaging/systemd/varq-agent.service > $(DESTDIR)$(UNITDIR)/varq-agent.service
	install -m 644 packaging/systemd/sysusers.conf $(DESTDIR)$(SYSUSERSDIR)/varq.conf
	install -m 644 packaging/systemd/tmpfiles.conf $(DESTDIR)$(TMPFILESDIR)/varq.conf
	$(BUILT)/varq completion bash > $(DESTDIR)$(BASHCOMPDIR)/varq
	$(BUILT)/varq completion zsh > $(DESTDIR)$(ZSHCOMPDIR)/_varq
	$(BUILT)/varq completion fish > $(DESTDIR)$(FISHCOMPDIR)/varq.fish
	chmod 644 $(addprefix $(DESTDIR),$(MADE))
	for page in $(MAN_PAGES); do \
	  install -m 644 packaging/man/$$page $(DESTDIR)$(MANDIR)/man$${page##*.} || exit 1; \
	done
	test -e $(DESTDIR)$(CONFIGURATION) || install -m 644 packaging/etc/varq.yaml $(DESTDIR)$(CONFIGURATION)
ifeq ($(DESTDIR),)
	@packaging/system-user $(SYSUSERSDIR)/varq.conf
	@sed -e 's|CONFIGURATION|$(CONFIGURATION)|' -e 's|SBINDIR|$(SBINDIR)|' -e 's|DATADIR|$(DATADIR)|' packaging/next-steps
endif

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(DATADIR)/varq 2>/dev/null

# The packages of varq.spec, in build/rpm/RPMS. RPMFLAGS is handed on to
# rpmbuild.
RPMTOP := $(CURDIR)/build/rpm
rpm:
	rm -rf $(RPMTOP)
	mkdir -p $(RPMTOP)/SOURCES
	git archive --prefix=varq-$(VERSION)/ -o $(RPMTOP)/SOURCES/varq-$(VERSION).tar.gz HEAD
	rpmbuild -bb --define '_topdir $(RPMTOP)' --define 'varq_version $(VERSION)' \
	  --define "slurm_version $$(packaging/slurm-version)" \
	  --define 'slurm_plugindir $(SLURM_PLUGINDIR)' $(RPMFLAGS) varq.spec
	@find $(RPMTOP)/RPMS -name '*.rpm'
